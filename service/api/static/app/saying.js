/** Events in words. */

import { cardText, n, t } from "./i18n.js";

/** How a seat is called: by its player's name. */
export function nameOf(view, seat) {
  const found = view?.seats?.find((one) => one.seat === seat)?.player;
  if (found?.kind === "bot" && found.level) return t("Bot {seat}", { seat });
  return found?.name || t("Seat {seat}", { seat });
}

const REASONS = {
  went_out: n("{who} went out."),
  blocked: n("Nobody could go on."),
  stock_exhausted: n("The stock ran out."),
};

const REPLACED = {
  resigned: n("{who} gave up the seat; a bot plays on."),
  absent: n("{who} was away too long; a bot plays on."),
  returned: n("{who} is back."),
  ruled: n("A referee gave the seat of {who} to a bot."),
};

/** A move in words. */
export function moveText(move, outcome = {}, who = "") {
  const cards = (move.cards ?? []).map(cardText).join(" ");
  const card = move.card ? cardText(move.card) : "";
  switch (move.type) {
    case "play": return outcome.boom ? t("{who} plays {card}: BOOM!", { who, card }) : t("{who} plays {card}.", { who, card });
    case "pass": return t("{who} passes.", { who });
    case "draw":
      if (outcome.took) return t("{who} takes {card} from the discard pile.", { who, card: cardText(outcome.took) });
      return t("{who} draws a card.", { who });
    case "meld": return t("{who} melds {cards}.", { who, cards });
    case "lay_off": return t("{who} lays off {card}.", { who, card });
    case "take_wild": return t("{who} takes the wild {wild} for {card}.", { who, card, wild: cardText(move.wild) });
    case "discard": return t("{who} discards {card}.", { who, card });
    default: return `${who}: ${move.type}`;
  }
}

/** An event in words; null for one that says nothing to people. */
export function eventText(event, view) {
  const data = event.data;
  const who = data.seat ? nameOf(view, data.seat) : "";
  switch (event.type) {
    case "game_created": return t("The table is open; the deal is committed to.");
    case "seat_taken": return t("{who} sits down.", { who });
    case "seat_left": return t("{who} leaves.", { who });
    case "game_started": return t("{who} deals first.", { who: nameOf(view, data.dealer) });
    case "round_started": return t("Round {round} begins.", { round: data.round });
    case "move": {
      const said = moveText(data.move, data.outcome, who);
      return data.absent ? `${said} ${t("(The clock played.)")}` : said;
    }
    case "round_ended":
      return `${t("Round {round} is over.", { round: data.round ?? view?.round ?? "" })} ${t(REASONS[data.reason] ?? "{who}", { who: data.by ? nameOf(view, data.by) : "" })}`;
    case "game_ended": return t("The game is over.");
    case "secret_revealed": return t("The secret of the deal is revealed.");
    case "seat_replaced": return t(REPLACED[data.reason] ?? "{who} is replaced.", { who });
    case "clock_extended": return t("{who} has {seconds} more seconds.", { who, seconds: data.seconds });
    case "dispute_opened": return t("{who} files a dispute.", { who });
    case "dispute_withdrawn": return t("The dispute is withdrawn.");
    case "game_held": return t("The game is held.");
    case "game_resumed": return t("The game goes on.");
    case "ruling": return t("A referee rules: {remedies}.", { remedies: (data.remedies ?? []).map((one) => t(one)).join(", ") });
    case "rewound": return t("The game goes back to event {to}; the stock is shuffled again.", { to: data.to });
    case "hidden_read_disclosed": return t("A referee had looked at hands at event {version}.", { version: data.version });
    default: return event.type;
  }
}
