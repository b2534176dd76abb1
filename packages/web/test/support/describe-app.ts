import { afterAll, beforeAll } from "bun:test"
import type { Browser, BrowserContextOptions } from "playwright-core"
import {
  type AppStage,
  endRoutes,
  type OpenTab,
  openAppStage,
  openTab,
  type Person,
} from "../../dev/app-stage.ts"
import { describeInBrowser } from "./describe-in-browser.ts"

/** What a suite of the app uses. It is available in hooks and tests, not in `describe`. */
export interface App {
  readonly browser: Browser
  readonly stage: AppStage
  /** Opens a tab in its own profile, signed in as a user or signed out. */
  open(who?: Person, options?: BrowserContextOptions): Promise<OpenTab>
  /**
   * Opens a tab of the first user in a shared profile, so that only the first one loads the editor.
   * Closing it closes all tabs of the profile, so that a failed test does not affect the next.
   */
  openOwn(): Promise<OpenTab>
}

/**
 * A suite that does not look at types. The worker with TypeScript takes most of the CPU time of a page
 * with an editor, and the app works without it.
 */
export function describeAppWithoutTypes(title: string, define: (app: App) => void): void {
  describeApp(title, define, {}, { hasTypes: false })
}

/** A suite with its own server, which may have settings. */
export function describeApp(
  title: string,
  define: (app: App) => void,
  env: Readonly<Record<string, string>> = {},
  { hasTypes } = { hasTypes: true },
): void {
  describeInBrowser(`web app: ${title}`, (getBrowser) => {
    let opened: AppStage | undefined
    let own: OpenTab | undefined
    beforeAll(async () => {
      opened = await openAppStage(env)
    })
    // Hooks run in the order of their definition: the tabs are closed first.
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
      async open(who, options) {
        const tab = await openTab(app.browser, app.stage, who, options)
        if (!hasTypes) await tab.context.addInitScript(removeWorkers, app.stage.url)
        return tab
      },
      async openOwn() {
        own ??= await app.open(app.stage.admin)
        return await openBeside(own)
      },
    }
    define(app)
  })
}

/** Runs in each document: the app finds no workers, as in a browser without them. */
function removeWorkers(origin: string): void {
  if (location.origin === origin) Reflect.deleteProperty(globalThis, "Worker")
}

async function openBeside({ context, problems }: OpenTab): Promise<OpenTab> {
  const page = await context.newPage()
  return {
    page,
    context,
    problems,
    async [Symbol.asyncDispose]() {
      await endRoutes(context)
      await Promise.all(context.pages().map((page) => page.close()))
      await context.setOffline(false)
      problems.splice(0)
    },
  }
}
