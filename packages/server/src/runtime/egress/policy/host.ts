import { type Address, parseAddress } from "./address-rule.ts"

/** Who is to be reached: an address, or a name in lower case and without the dot of the root. */
export type Host =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "name"; readonly name: string }

const limits = { hostCharsMax: 255, nameCharsMax: 253 }

/**
 * What has a meaning of its own in a URL: after it, or because of it, the host would be another
 * one.
 */
const delimiters = /[\p{Cc}\s/\\?#@:%[\]]/u

const namePattern = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

/**
 * Reads a host as it stands in a URL; undefined when it is none. Whatever else somebody hands over
 * is first read by the URL parser, which knows all spellings of an IPv4 address and of a name.
 */
export function parseHost(text: string): Host | undefined {
  if (text.length > limits.hostCharsMax) return undefined
  if (text.startsWith("[") && text.endsWith("]"))
    return text.includes(":") ? toAddressHost(text.slice(1, -1)) : undefined
  if (text.includes(":")) return toAddressHost(text)
  if (delimiters.test(text)) return undefined
  const hostname = URL.parse(`http://${text}`)?.hostname ?? ""
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname
  return (
    toAddressHost(name) ??
    (name.length <= limits.nameCharsMax && namePattern.test(name)
      ? { kind: "name", name }
      : undefined)
  )
}

function toAddressHost(text: string): Host | undefined {
  const address = parseAddress(text)
  return address && { kind: "address", address }
}
