import { type ReadSetting, readBaseUrl, readInteger, readRate, refuse } from "./readers.ts"

/** The settings of the service with language models. */
export interface OpenAiConfig {
  /** Undefined for none. */
  readonly service: { readonly url: string; readonly key: string | undefined } | undefined
  readonly requestsPerMinute: number | undefined
  readonly requestsPerDay: number | undefined
  readonly bodyBytesMax: number
}

const standardUrl = "https://api.openai.com/v1"

/** Reads the settings of the service with language models. */
export function loadOpenAiConfig(read: ReadSetting, isPublic: boolean): OpenAiConfig {
  const rate = (name: Parameters<ReadSetting>[0], standard: number) =>
    readRate(name, read(name), isPublic ? standard : undefined)
  const url = readBaseUrl(read("HAMLET_OPENAI_URL"), "HAMLET_OPENAI_URL")
  const key = readKey(read("HAMLET_OPENAI_KEY"))
  return {
    service: url === undefined && key === undefined ? undefined : { url: url ?? standardUrl, key },
    requestsPerMinute: rate("HAMLET_OPENAI_REQUESTS_PER_MINUTE", 10),
    requestsPerDay: rate("HAMLET_OPENAI_REQUESTS_PER_DAY", 1_000),
    bodyBytesMax:
      readInteger(
        "HAMLET_OPENAI_BODY_BYTES_MAX",
        read("HAMLET_OPENAI_BODY_BYTES_MAX"),
        1024,
        1_073_741_824,
      ) ?? 10_485_760,
  }
}

/** It becomes a header. The message does not repeat it. */
function readKey(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\x21-\x7e]{1,1000}$/.test(text)
    ? text
    : refuse("HAMLET_OPENAI_KEY", "…", "it must be visible ASCII characters")
}
