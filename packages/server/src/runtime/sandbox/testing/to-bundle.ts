import { createHash } from "node:crypto"
import type { StoredBundle } from "../../../domain/runs/stored-bundle.ts"

/** A bundle as the guest takes it. */
export function toBundle(packages: readonly string[]) {
  const text = `const once = (make) => { let made; return () => (made ??= make()) }
module.exports = [${packages.map((code) => `once(() => ${code})`).join(", ")}]`
  const code = new TextEncoder().encode(text)
  const hash = createHash("sha256").update(code).digest("hex")
  return { hash, code, cache: null, files: null, types: null }
}

/** A bundle that is in memory, as if it were stored. */
export function toStored({ hash, code }: ReturnType<typeof toBundle>): StoredBundle {
  return { hash, bytes: code.length, files: null, read: async () => ({ code, cache: null }) }
}
