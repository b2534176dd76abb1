import type { Input } from "@hamlet/contract/client"

type Filter = Pick<Input<"listMyRuns">, "error" | "source" | "status" | "text" | "since">

/** The statuses to choose from. The first ones are not statuses of the API. */
export const statusChoices = [
  { value: "", label: "Any status" },
  { value: "unsuccessful", label: "Any failure" },
  { value: "queued", label: "Queued" },
  { value: "running", label: "Running" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
  { value: "timed_out", label: "Timed out" },
  { value: "cancelled", label: "Cancelled" },
  { value: "crashed", label: "Crashed" },
] as const

/** The sources to choose from. */
export const sourceChoices = [
  { value: "", label: "Any source" },
  { value: "http", label: "Web address" },
  { value: "api", label: "API" },
  { value: "ui", label: "This app" },
  { value: "interval", label: "Schedule" },
  { value: "email", label: "Email" },
] as const

/** The most characters of a text to search for. */
export const textCharsMax = 200

const filterNames = ["val", "status", "source", "text"] as const

/** Whether the address has a filter, beside the period. */
export function isFiltered(query: URLSearchParams): boolean {
  return filterNames.some((name) => query.has(name))
}

/** The change of the address that removes all filters. */
export const withoutFilters = Object.fromEntries(filterNames.map((name) => [name, undefined]))

/** Reads the filter from the address. Unknown values are ignored. */
export function readRunFilter(query: URLSearchParams, since: string | undefined): Filter {
  const status = statusChoices.find(({ value }) => value === query.get("status"))?.value ?? ""
  const source = sourceChoices.find(({ value }) => value === query.get("source"))?.value ?? ""
  const text = (query.get("text") ?? "").trim().slice(0, textCharsMax)
  return {
    ...(status === "unsuccessful" ? { error: true } : status === "" ? {} : { status: [status] }),
    ...(source === "" ? {} : { source: [source] }),
    ...(text === "" ? {} : { text }),
    ...(since === undefined ? {} : { since }),
  }
}
