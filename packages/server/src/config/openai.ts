import { integer, type ReadSetting, rate, readTable, text, webAddress } from "./setting.ts"

const standardUrl = "https://api.openai.com/v1"

/** The service with language models. */
export const openAiSettings = {
  url: text({
    env: "HAMLET_OPENAI_URL",
    default: `${standardUrl} with a key, else none`,
    ...webAddress,
    meaning:
      "Address of a service with OpenAI's wire format, whose language models vals use through `std/openai`.",
  }),
  // The key becomes a header.
  key: text({
    env: "HAMLET_OPENAI_KEY",
    accept: /^[\x21-\x7e]{1,1000}$/,
    reason: "it must be visible ASCII characters",
    isSecret: true,
    meaning: "Your key for that service. Vals use it but never see it. Empty: no key is sent.",
  }),
  requestsPerMinute: rate({
    env: "HAMLET_OPENAI_REQUESTS_PER_MINUTE",
    default: 10,
    ifPublic: true,
    meaning: "Requests per minute of one user to the language models, or `none`.",
  }),
  requestsPerDay: rate({
    env: "HAMLET_OPENAI_REQUESTS_PER_DAY",
    default: 1_000,
    ifPublic: true,
    meaning:
      "Requests per day of one user to the language models, or `none`. Counted from the start of the nodes.",
  }),
  bodyBytesMax: integer({
    env: "HAMLET_OPENAI_BODY_BYTES_MAX",
    default: 10_485_760,
    min: 1024,
    max: 1_073_741_824,
    meaning: "Largest body of a request to the language models, in bytes.",
  }),
}

export function loadOpenAiConfig(read: ReadSetting, isPublic: boolean) {
  const { url, key, ...limits } = readTable(openAiSettings, read, isPublic)
  const hasService = url !== undefined || key !== undefined
  return { ...limits, service: hasService ? { url: url ?? standardUrl, key } : undefined }
}
