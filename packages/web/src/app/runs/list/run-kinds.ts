import { currentOwner } from "../../session/owners.ts"

/** The sources of runs, as users read them. */
export const sourceNames = {
  ui: "This app",
  api: "API",
  http: "Web",
  interval: "Schedule",
  email: "Email",
} as const

/** Whether a run belongs to a val: an ad-hoc run of code has the version 0. */
export function isOfVal({ val }: { readonly val: { readonly version: number } }): boolean {
  return val.version > 0
}

/** Whether a run has not ended yet. */
export function isGoingOn({ status }: { readonly status: string }): boolean {
  return status === "queued" || status === "running"
}

/** The name of a val in a list. Those of the current owner are shown without its name. */
export function toValName(val: { readonly username: string; readonly name: string }): string {
  const { username, name } = val
  return currentOwner()?.username === username ? name : `${username}/${name}`
}
