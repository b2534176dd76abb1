import type { Browser, BrowserContextOptions } from "playwright-core"
import {
  type AppStage,
  endRoutes,
  enterAs,
  type OpenTab,
  openTab,
  type Person,
  showNothing,
} from "../../dev/app-stage.ts"
import { keepContext } from "./shared-browser.ts"

const clockProblem =
  "A clock stays in the profile, for the tests that follow: open the tab with options, as in open(who, {})"

/** Opens tabs of the app. */
export interface Profiles {
  /**
   * Opens a tab, signed in as a user or signed out. Tests take turns with one profile, so that only
   * the first one loads the app; its cookies and its storage are new each time. A second tab at the
   * same time, and one with options, has a profile of its own.
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

/** Profiles of a browser for a server. Those of a shared server are open until the browser stops. */
export function createProfiles(
  browser: Browser,
  stage: AppStage,
  { isShared }: { readonly isShared: boolean },
) {
  const own = new Map<boolean, OpenTab>()
  const entered = new Set<boolean>()
  let profile: OpenTab | undefined
  let isProfileUsed = false
  const openProfile = async (who?: Person, options?: BrowserContextOptions, hasTypes = false) => {
    const tab = await openTab(browser, stage, who, options)
    if (!hasTypes) await tab.context.addInitScript(removeWorkers, stage.url)
    return tab
  }
  const openLasting = async (hasTypes = false) => {
    const tab = await openProfile(undefined, undefined, hasTypes)
    if (isShared) keepContext(tab.context)
    tab.context.clock.install = () => Promise.reject(new Error(clockProblem))
    await showNothing(tab.page)
    return tab
  }
  const openBesideOwn = async (hasTypes: boolean) => {
    const beside = own.get(hasTypes) ?? (await openLasting(hasTypes))
    own.set(hasTypes, beside)
    if (!entered.has(hasTypes)) await enterAs(beside, stage.admin)
    entered.add(hasTypes)
    return await openBeside(beside)
  }
  const profiles: Profiles = {
    async open(who, options) {
      if (isProfileUsed || options) return await openProfile(who, options)
      isProfileUsed = true
      profile ??= await openLasting()
      await enterAs(profile, who)
      return await openBeside(profile, () => {
        isProfileUsed = false
      })
    },
    openOwn: () => openBesideOwn(false),
    openTyped: () => openBesideOwn(true),
  }
  return {
    browser,
    profiles,
    /** Closes the tabs that a suite has left open; the next one finds nothing of it in the storage. */
    async renew() {
      entered.clear()
      const used = [...(profile ? [profile] : []), ...own.values()]
      await Promise.all(used.map((tab) => closeTabs(tab)))
      isProfileUsed = false
    },
  }
}

/** Runs in each document: the app finds no workers, as in a browser without them. */
function removeWorkers(origin: string): void {
  if (location.origin === origin) Reflect.deleteProperty(globalThis, "Worker")
}

async function openBeside(beside: OpenTab, onClose?: () => void): Promise<OpenTab> {
  const { context, problems } = beside
  const page = await context.newPage()
  return {
    page,
    context,
    problems,
    async [Symbol.asyncDispose]() {
      await closeTabs(beside)
      onClose?.()
    },
  }
}

/** Closes all tabs but the first one, whose process shows the next ones. */
async function closeTabs({ page: first, context, problems }: OpenTab): Promise<void> {
  await endRoutes(context)
  const others = context.pages().filter((page) => page !== first)
  await Promise.all(others.map((page) => page.close()))
  await context.setOffline(false)
  problems.splice(0)
}
