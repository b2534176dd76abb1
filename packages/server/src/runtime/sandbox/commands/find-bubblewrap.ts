import { fileURLToPath } from "node:url"

/**
 * Where `npm start` unpacks bubblewrap if it may not install it; scripts/setup/bubblewrap.mjs has
 * the same path.
 */
const ownPath = fileURLToPath(
  new URL("../../../../../.tools/bubblewrap/usr/bin/bwrap", import.meta.url),
)

/** The bubblewrap of this machine, or the one that was unpacked beside the program. */
export function findBubblewrap(): string | undefined {
  return Bun.which("bwrap") ?? Bun.which(ownPath) ?? undefined
}
