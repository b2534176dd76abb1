import { type Address, parseAddress } from "./address-rule.ts"

/** An address, or a name in lower case and without a dot at its end. */
export type Host =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "name"; readonly name: string }

const limits = { hostCharsMax: 255, nameCharsMax: 253 }

/** Characters with a meaning in a URL: with them, the URL parser would see another host. */
const delimiters = /[\p{Cc}\s/\\?#@:%[\]]/u

const namePattern = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

/**
 * Parses a host as it is written in a URL; undefined if it is invalid. The URL parser normalizes
 * it first: it knows all notations of IPv4 addresses and names.
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
