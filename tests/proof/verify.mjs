// Reads {vectors, cases: [{text, keys}]} and answers with what the verifier in JavaScript finds.
import { readFileSync } from "node:fs";
import * as proof from "../../service/api/static/proof.js";

const { vectors, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const reports = [];
for (const { text, keys } of cases) reports.push(await proof.verify(text, { keys }));
console.log(JSON.stringify({ vectors: await worked(vectors), reports }));

async function worked({ server_secret: secret, game, contributions, subkeys, first_words: first, decks, chain }) {
  const key = await proof.gameKey(proof.fromHex(secret), game, contributions);
  const of = (label) => proof.subKeys(key).of(label);
  const found = { subkeys: {}, first_words: {}, decks: {} };
  for (const label of Object.keys(subkeys)) found.subkeys[label] = proof.toHex(await of(label));
  for (const [label, words] of Object.entries(first)) {
    const next = proof.words(await of(label));
    found.first_words[label] = [];
    for (const _ of words) found.first_words[label].push(await next());
  }
  for (const name of Object.keys(decks)) {
    const [cards, label] = name.split(", ");
    const jokers = Number(/\+(\d+)/.exec(cards)?.[1] ?? 0);
    found.decks[name] = await proof.shuffle(proof.pack(jokers), await of(label));
  }
  found.commitment = await proof.sha256Hex("fairdeal/1 commit\n", proof.fromHex(secret));
  found.game_key = proof.toHex(key);
  found.hashes = [];
  for (const { hash: _hash, canonical: _canonical, ...event } of chain) {
    found.hashes.push(await proof.sha256Hex(`fairdeal/1 event\n${proof.canonical(event)}`));
  }
  return found;
}
