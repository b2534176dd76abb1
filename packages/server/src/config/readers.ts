import type { Env } from "./options.ts"

/** An invalid setting. The message is one sentence for the operator. */
export class ConfigError extends Error {}

/** Reads the text of a setting; empty if it is not set. */
export type ReadSetting = (name: Env) => string

/** Throws the error of an invalid setting. */
export function refuse(env: Env, value: string, reason: string): never {
  throw new ConfigError(`Cannot use ${env} "${value}": ${reason}`)
}

export function readInteger(env: Env, text: string, min: number, max: number): number | undefined {
  if (text === "") return undefined
  const number = Number(text)
  return /^\d+$/.test(text) && number >= min && number <= max
    ? number
    : refuse(env, text, `it must be a whole number from ${min} to ${max}`)
}

export function readRate(env: Env, text: string, standard: number | undefined): number | undefined {
  return text === "none" ? undefined : (readInteger(env, text, 1, 1_000_000_000) ?? standard)
}

export function readDatabaseUrl(text: string): string | undefined {
  if (text === "") return undefined
  // The address may contain a password: the message does not repeat it.
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
    ? text
    : refuse("HAMLET_DATABASE_URL", "…", "it must begin with postgres:// and be a valid address")
}

export function readBaseUrl(text: string, name: Env = "HAMLET_BASE_URL"): string | undefined {
  if (text === "") return undefined
  // Paths are appended to it, so it cannot have a query. A password would appear in every link.
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text)) {
    refuse(name, text, "it must be an http or https address without a query or a password")
  }
  return text.replace(/\/+$/, "")
}

const formerBaseUrlsMax = 20

export function readFormerBaseUrls(text: string): readonly string[] {
  const urls = text
    .split(",")
    .flatMap((url) => readBaseUrl(url.trim(), "HAMLET_FORMER_BASE_URLS") ?? [])
  return urls.length <= formerBaseUrlsMax
    ? urls
    : refuse("HAMLET_FORMER_BASE_URLS", text, `it may have ${formerBaseUrlsMax} addresses`)
}

export function readDomain(text: string): string | undefined {
  if (text === "") return undefined
  return /^[a-z0-9.-]+(:\d{1,5})?$/i.test(text)
    ? text.toLowerCase()
    : refuse("HAMLET_VALS_DOMAIN", text, "it must be a host name, with a port if need be")
}

const usernamePattern = /^[a-zA-Z][a-zA-Z0-9_]{0,29}$/

export function readUser(text: string): string | undefined {
  if (text === "") return undefined
  return usernamePattern.test(text)
    ? text
    : refuse(
        "HAMLET_USER",
        text,
        "it must be 1 to 30 letters, digits and underscores, a letter first",
      )
}

export function toUsername(login: string): string {
  const name = login.replaceAll(/[^a-zA-Z0-9_]/g, "_").slice(0, 30)
  return usernamePattern.test(name) ? name : "me"
}

export function readToken(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\x21-\x7e]{32,200}$/.test(text)
    ? text
    : refuse("HAMLET_TOKEN", "…", "it must be 32 to 200 visible ASCII characters")
}

export function readKeys(text: string): readonly Uint8Array[] | undefined {
  if (text === "") return undefined
  const keys = text.split(",").map((part) => Buffer.from(part.trim(), "base64"))
  return keys.every((key) => key.length === 32)
    ? keys
    : refuse("HAMLET_SECRET_KEY", "…", "each key must be 32 bytes in base64")
}

export function readHeader(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\w.-]+$/.test(text)
    ? text.toLowerCase()
    : refuse("HAMLET_ADDRESS_HEADER", text, "it must be the name of a header")
}

/** One of several words; the first is the default. */
export function readChoice<Choice extends string>(
  env: Env,
  text: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  if (text === "") return choices[0]
  return (
    choices.find((choice) => choice === text) ??
    refuse(env, text, `it must be one of ${choices.join(", ")}`)
  )
}
