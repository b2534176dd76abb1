/** The used part of trusted types, which not every browser has. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown }
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined

/**
 * The address of a worker for a page whose CSP allows only scripts of the trusted-types policy
 * `hamlet`. A page can create a policy once, so only this file does.
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
