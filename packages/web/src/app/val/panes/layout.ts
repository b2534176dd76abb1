import { type ReadonlySignal, signal } from "@preact/signals"
import { readStored, writeStored } from "../../data/stored.ts"

/** The sizes of the panes of a val's page in percent of the window, and which panes are open. */
export interface Layout {
  readonly sidePercent: number
  readonly isSideOpen: boolean
  readonly drawerPercent: number
  /** The logs of a web request are also beside the code, so that drawer has a state of its own. */
  readonly isHttpDrawerOpen: boolean
  readonly isDrawerOpen: boolean
  readonly isTreeOpen: boolean
}

/** The smallest and the largest size of a pane, in percent. A smaller pane is closed. */
export const paneLimits = {
  side: { min: 20, max: 75 },
  drawer: { min: 12, max: 75 },
} as const

const defaults: Layout = {
  sidePercent: 42,
  isSideOpen: true,
  drawerPercent: 28,
  isHttpDrawerOpen: false,
  isDrawerOpen: true,
  isTreeOpen: true,
}

const storageKey = "hamlet.panes"
const current = signal(readLayout(readStored(storageKey)))

/** The layout that the user has chosen, the same for all vals. */
export const layout: ReadonlySignal<Layout> = current

/** Changes the layout and stores it in the browser. */
export function changeLayout(changes: Partial<Layout>): void {
  current.value = { ...current.peek(), ...changes }
  writeStored(storageKey, JSON.stringify(current.peek()))
}

/** Reads a stored layout. Missing and invalid parts are the defaults. */
export function readLayout(text: string | null): Layout {
  const stored = parseObject(text)
  const size = (value: unknown, fallback: number, { min, max }: { min: number; max: number }) =>
    typeof value === "number" && value >= min && value <= max ? value : fallback
  const flag = (value: unknown, fallback: boolean) =>
    typeof value === "boolean" ? value : fallback
  return {
    sidePercent: size(stored.sidePercent, defaults.sidePercent, paneLimits.side),
    isSideOpen: flag(stored.isSideOpen, defaults.isSideOpen),
    drawerPercent: size(stored.drawerPercent, defaults.drawerPercent, paneLimits.drawer),
    isHttpDrawerOpen: flag(stored.isHttpDrawerOpen, defaults.isHttpDrawerOpen),
    isDrawerOpen: flag(stored.isDrawerOpen, defaults.isDrawerOpen),
    isTreeOpen: flag(stored.isTreeOpen, defaults.isTreeOpen),
  }
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}")
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
