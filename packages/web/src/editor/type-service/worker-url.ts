/** The part of the browser's trusted types that is used; not every browser has them. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown }
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined

/**
 * The address of a worker as a page takes it that lets in scripts of its policy `hamlet` only. A
 * page can make each policy once, so this is the one place that makes it.
 */
export function toWorkerUrl(address: string): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  if (!trustedTypes) return toOwnUrl(address)
  policy ??= trustedTypes.createPolicy("hamlet", { createScriptURL: toOwnUrl })
  return policy.createScriptURL(address)
}

function toOwnUrl(address: string): string {
  const url = new URL(address, location.href)
  if (url.origin !== location.origin)
    throw new Error(`Cannot load the script "${address}": it is not from this server`)
  return url.href
}
