import { afterAll, beforeAll } from "bun:test"
import type { Browser, BrowserContextOptions } from "playwright-core"
import {
  type AppStage,
  endRoutes,
  enterAs,
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
  /**
   * Opens a tab, signed in as a user or signed out. Tests take turns with one profile per suite, so
   * that only the first one loads the app; its cookies and its storage are new each time. A second
   * tab at the same time, and one with options, has a profile of its own.
   */
  open(who?: Person, options?: BrowserContextOptions): Promise<OpenTab>
  /**
   * Opens a tab of the first user in a shared profile, so that only the first one loads the editor.
   * Closing it closes all tabs of the profile, so that a failed test does not affect the next.
   */
  openOwn(): Promise<OpenTab>
  /**
   * Like `openOwn`, with types in the editor. The worker with TypeScript takes most of the CPU time of
   * a page with an editor; in other tabs the app works without it, as in a browser without workers.
   */
  openTyped(): Promise<OpenTab>
}

/** A suite with its own server, which may have settings. */
export function describeApp(
  title: string,
  define: (app: App) => void,
  env: Readonly<Record<string, string>> = {},
): void {
  describeInBrowser(`web app: ${title}`, (getBrowser) => {
    let opened: AppStage | undefined
    let profile: OpenTab | undefined
    let isProfileUsed = false
    const own = new Map<boolean, OpenTab>()
    beforeAll(async () => {
      opened = await openAppStage(env)
      // The first server of a checkout builds the app, which may take longer than a page is given.
      await fetch(opened.url)
    })
    // Hooks run in the order of their definition: the tabs are closed first.
    afterAll(() => opened?.[Symbol.asyncDispose]())
    const openProfile = async (who?: Person, options?: BrowserContextOptions) => {
      const tab = await openTab(app.browser, app.stage, who, options)
      await tab.context.addInitScript(removeWorkers, app.stage.url)
      return tab
    }
    const openBesideOwn = async (hasTypes: boolean) => {
      const tab =
        own.get(hasTypes) ??
        (await (hasTypes
          ? openTab(app.browser, app.stage, app.stage.admin)
          : openProfile(app.stage.admin)))
      own.set(hasTypes, tab)
      return await openBeside(tab)
    }
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
        if (isProfileUsed || options) return await openProfile(who, options)
        isProfileUsed = true
        profile ??= await openProfile()
        const tab = await openBeside(profile, () => {
          isProfileUsed = false
        })
        await enterAs(tab, who)
        return tab
      },
      openOwn: () => openBesideOwn(false),
      openTyped: () => openBesideOwn(true),
    }
    define(app)
  })
}

/** Runs in each document: the app finds no workers, as in a browser without them. */
function removeWorkers(origin: string): void {
  if (location.origin === origin) Reflect.deleteProperty(globalThis, "Worker")
}

async function openBeside({ context, problems }: OpenTab, onClose?: () => void): Promise<OpenTab> {
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
      onClose?.()
    },
  }
}
