// Plays whole games over the wire, so many at once; prints the latencies of the moves, in ms, as JSON.
const { Client } = require("boardgame.io/dist/cjs/client.js");
const { SocketIO } = require("boardgame.io/dist/cjs/multiplayer.js");
const { GoBoom, legal } = require("./game.cjs");
const [, , port, tables, games] = process.argv;
const base = `http://127.0.0.1:${port}`;
const SEATS = 4;

async function post(path, body, headers = {}) {
  const answer = await fetch(base + path, { method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...headers } });
  if (!answer.ok) throw new Error(`${path} ${answer.status}`);
  return answer.json();
}

// The client's state once it is as wanted; null if it does not come: an update is missed now and then.
const next = (client, wanted) => new Promise((done) => {
  let stop = () => {};
  const end = (state) => { clearTimeout(late); clearInterval(look); stop(); done(state); };
  const late = setTimeout(() => end(null), 2_000);
  const look = setInterval(() => { const state = client.getState(); if (state && wanted(state)) end(state); }, 50);
  stop = client.subscribe((state) => { if (state && wanted(state)) setImmediate(() => end(state)); });
});

async function play(latencies) {
  const { matchID } = await post("/games/go-boom/create", { numPlayers: SEATS });
  const clients = await Promise.all(Array.from({ length: SEATS }, async (_, seat) => {
    const { playerCredentials } = await post(`/games/go-boom/${matchID}/join`, { playerID: String(seat), playerName: "P" + seat });
    const client = Client({ game: GoBoom, multiplayer: SocketIO({ server: base }), matchID,
      playerID: String(seat), credentials: playerCredentials, numPlayers: SEATS, debug: false });
    client.start();
    return client;
  }));
  await Promise.all(clients.map((client) => next(client, (state) => state.G?.players)));
  for (;;) {
    const seen = clients.map((one) => one.getState()).reduce((a, b) => (a._stateID >= b._stateID ? a : b));
    if (seen.ctx.gameover) break;
    const client = clients[Number(seen.ctx.currentPlayer)];
    const state = client.getState()._stateID >= seen._stateID ? client.getState()
      : await next(client, (one) => one._stateID >= seen._stateID);
    if (state === null) continue;
    const hand = state.G.players[client.playerID].hand;
    const may = legal(state.G, hand);
    const began = performance.now();
    const answer = next(client, (one) => one._stateID > state._stateID);
    if (may.length) client.moves.play(may[0]);
    else if (state.G.stock > 0) client.moves.draw();
    else client.moves.pass();
    if (await answer) latencies.push(performance.now() - began);
  }
  clients.forEach((client) => client.stop());
}

(async () => {
  await play([]);  // warm
  const latencies = [];
  const began = performance.now();
  await Promise.all(Array.from({ length: Number(tables) }, async () => {
    for (let number = 0; number < Number(games); number += 1) await play(latencies);
  }));
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor(latencies.length * part)];
  console.log(JSON.stringify({ moves: latencies.length, rate: latencies.length / seconds, p50: at(0.5), p99: at(0.99) }));
  process.exit(0);
})();
