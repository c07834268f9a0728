"""Every benchmark, one after the other."""

from bench import latency, moves, pages, peer, proof, rules, scale, streams

print("## Moves over HTTP\n")
moves.main()
print("\n## Beside boardgame.io\n")
peer.main()
print("\n## The length of a game\n")
latency.main()
print("\n## The rules alone\n")
rules.main()
print("\n## The proof\n")
proof.main()
print("\n## Streams\n")
streams.main()
print("\n## Pages\n")
pages.main()
print("\n## What games need\n")
scale.main()
