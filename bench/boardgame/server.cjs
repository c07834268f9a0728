// boardgame.io's own server, with its own storage in memory: nothing is on disk when a move is answered.
const { Server } = require("boardgame.io/dist/cjs/server.js");
const { GoBoom } = require("./game.cjs");
const server = Server({ games: [GoBoom], origins: [/127.0.0.1:\d+/] });
server.run({ port: Number(process.argv[2]), callback: () => console.log("ready") });
