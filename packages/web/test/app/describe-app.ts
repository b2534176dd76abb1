import { afterAll, beforeAll } from "bun:test"
import type { Browser, BrowserContextOptions } from "playwright-core"
import {
  type AppStage,
  type OpenTab,
  openAppStage,
  openTab,
  type Person,
} from "../../dev/app-stage.ts"
import { describeInBrowser } from "../describe-in-browser.ts"

/** What a suite of the app has: from its first hook on, not while it is defined. */
export interface App {
  readonly browser: Browser
  readonly stage: AppStage
  /** Opens a tab in a profile of its own, signed in as somebody or as nobody. */
  open(who?: Person, options?: BrowserContextOptions): Promise<OpenTab>
  /**
   * Opens a tab of the first user's in a profile that all of these share, so that only the first of
   * them loads the editor. With it go all tabs of the profile: nothing that fails in one test is in
   * the way of the next.
   */
  openOwn(): Promise<OpenTab>
}

/** A suite with a server of its own, the app that it serves, and a browser. */
export function describeApp(title: string, define: (app: App) => void): void {
  describeInBrowser(`web app: ${title}`, (getBrowser) => {
    let opened: AppStage | undefined
    let own: OpenTab | undefined
    beforeAll(async () => {
      opened = await openAppStage()
    })
    // After the browser, which is closed first: hooks run in the order in which they were defined.
    afterAll(() => opened?.[Symbol.asyncDispose]())
    const app: App = {
      get browser() {
        return getBrowser()
      },
      get stage() {
        if (!opened)
          throw new Error("Cannot use the server: it is started by the first hook of the suite")
        return opened
      },
      open: (who, options) => openTab(app.browser, app.stage, who, options),
      async openOwn() {
        own ??= await app.open(app.stage.admin)
        return await openBeside(own)
      },
    }
    define(app)
  })
}

async function openBeside({ context, problems }: OpenTab): Promise<OpenTab> {
  const page = await context.newPage()
  return {
    page,
    context,
    problems,
    async [Symbol.asyncDispose]() {
      await Promise.all(context.pages().map((page) => page.close()))
      await context.setOffline(false)
      problems.splice(0)
    },
  }
}
