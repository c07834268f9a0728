/** House rules as a form, by the JSON Schema that the ruleset publishes. */

import { field, h, select } from "./dom.js";
import { t } from "./i18n.js";

const words = (name) => t(name.replaceAll("_", " "));

/** The fields of a schema, and a function that reads them. */
export function optionsForm(schema) {
  const { properties } = schema.$defs[schema.$ref.split("/").at(-1)];
  const readers = [];
  const fields = Object.entries(properties).map(([name, option]) => {
    const hint = t(option.description ?? "");
    const title = words(name);
    if (option.enum) {
      const control = select(option.enum.map((value) => [value, words(value)]), option.default);
      readers.push(() => [name, control.value]);
      return field(title, control, hint);
    }
    if (option.type === "boolean") {
      const control = h("input", { type: "checkbox", checked: option.default });
      readers.push(() => [name, control.checked]);
      return field(title, control, hint);
    }
    const control = h("input", {
      type: "number", min: option.minimum, max: option.maximum, value: option.default ?? "",
      placeholder: option.default === null ? t("as usual") : null, required: option.default !== null, inputmode: "numeric",
    });
    readers.push(() => [name, control.value === "" ? null : Number(control.value)]);
    return field(title, control, hint);
  });
  return { fields, read: () => Object.fromEntries(readers.map((read) => read()).filter(([, value]) => value !== null)) };
}
