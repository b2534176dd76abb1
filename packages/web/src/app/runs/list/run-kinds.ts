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
