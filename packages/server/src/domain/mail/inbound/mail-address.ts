import { limits } from "@hamlet/contract"

/** What the part of an address before the `@` names. */
export type MailTarget =
  | { readonly kind: "name"; readonly username: string; readonly name: string }
  /** The id of a val or of a file. */
  | { readonly kind: "id"; readonly id: string }

/** RFC 5321 lets the part before the `@` have so many characters. */
const localPartCharsMax = 64

/** The mail address of a val. The id replaces names that are too long, or have a dot. */
export function toMailAddress(
  domain: string,
  val: { readonly id: string; readonly ownerName: string; readonly name: string },
): string {
  const localPart = `${val.ownerName}.${val.name}`
  const isShort = localPart.length <= localPartCharsMax && !val.name.startsWith(".")
  return `${isShort ? localPart : val.id}@${domain}`
}

/** The mail address that is made of the id of a file. */
export function toFileMailAddress(domain: string, fileId: string): string {
  return `${fileId.replaceAll("-", "")}@${domain}`
}

/**
 * The val that an address names; undefined if it can be the address of none. Case does not matter,
 * and a tag (`ada.hello+orders@…`) neither: it is for the val to read.
 */
export function parseMailAddress(address: string, domain: string): MailTarget | undefined {
  const at = address.lastIndexOf("@")
  if (at === -1 || !isDomain(address.slice(at + 1), domain)) return undefined
  const localPart = address.slice(0, at).split("+", 1)[0] ?? ""
  if (uuid.test(localPart)) return { kind: "id", id: localPart.toLowerCase() }
  if (bareUuid.test(localPart)) return { kind: "id", id: toUuid(localPart.toLowerCase()) }
  const [, username, name] = names.exec(localPart) ?? []
  return username !== undefined &&
    name !== undefined &&
    username.length <= limits.usernameCharsMax &&
    name.length <= limits.nameCharsMax
    ? { kind: "name", username, name }
    : undefined
}

/** Whether the address belongs to the domain. */
export function isOfDomain(address: string, domain: string): boolean {
  const at = address.lastIndexOf("@")
  return at !== -1 && isDomain(address.slice(at + 1), domain)
}

function isDomain(text: string, domain: string): boolean {
  return text.replace(/\.$/, "").toLowerCase() === domain
}

const names = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_-]*)$/i
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const bareUuid = /^[0-9a-f]{32}$/i

function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
