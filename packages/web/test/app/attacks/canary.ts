import type { BrowserContext, Page } from "playwright-core"

/** Records scripts that ran where none may run, and windows that opened. */
export interface Canary {
  /** The records since the last call. */
  take(): readonly string[]
}

/**
 * Gives every page a function `canary`, which hostile texts call. A val may call it on its own
 * origin; everywhere else the call means a successful attack.
 */
export async function releaseCanary(context: BrowserContext, valsDomain: string): Promise<Canary> {
  const records: string[] = []
  await context.exposeBinding("canary", ({ frame }, text: unknown) => {
    const host = URL.parse(frame.url())?.host ?? ""
    if (!host.endsWith(`.${valsDomain}`)) records.push(`${frame.url()} ran ${text}`)
  })
  const watch = (page: Page) => {
    page.on("dialog", (dialog) => {
      records.push(`${dialog.type()}: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on("download", (download) => records.push(`download: ${download.url()}`))
  }
  for (const page of context.pages()) watch(page)
  context.on("page", watch)
  return { take: () => records.splice(0) }
}
