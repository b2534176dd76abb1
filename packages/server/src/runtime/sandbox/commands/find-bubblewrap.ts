import { fileURLToPath } from "node:url"

/**
 * Where `npm start` unpacks bubblewrap when it may not install it. scripts/setup/bubblewrap.mjs has
 * the same path.
 */
const ownPath = fileURLToPath(
  new URL("../../../../../.tools/bubblewrap/usr/bin/bwrap", import.meta.url),
)

/** The path of the installed bubblewrap, or of the unpacked one. */
export function findBubblewrap(): string | undefined {
  return Bun.which("bwrap") ?? Bun.which(ownPath) ?? undefined
}
