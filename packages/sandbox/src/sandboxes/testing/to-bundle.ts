import { sha256 } from "@hamlet/kit"
import type { BundleFiles, BundleScript } from "../../program/stored-bundle.ts"

/** A bundle that a test has made. */
export interface MadeBundle extends BundleScript {
  readonly hash: string
  readonly files: BundleFiles | null
  readonly types: null
}

/** The module by which the guest tells packages where their files are. */
export const packageLocationUrl = import.meta.resolve("@hamlet/guest/package-location")

/** A bundle as the guest takes it. */
export function toBundle(packages: readonly string[]): MadeBundle {
  const text = `const once = (make) => { let made; return () => (made ??= make()) }
module.exports = [${packages.map((code) => `once(() => ${code})`).join(", ")}]`
  const code = new TextEncoder().encode(text)
  const hash = sha256(code).toString("hex")
  return { hash, code, cache: null, files: null, types: null }
}
