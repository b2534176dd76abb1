import { useRef } from "preact/hooks"
import { useMoreHint } from "./use-more-hint.ts"

interface Tab<Id extends string> {
  readonly id: Id
  readonly label: string
  /** Shows a dot: there is something to see. */
  readonly isMarked?: boolean
}

interface TabsProps<Id extends string> {
  readonly label: string
  readonly tabs: readonly Tab<Id>[]
  readonly current: Id
  readonly panelId: string
  readonly onPick: (id: Id) => void
}

/** A row of tabs. It is one tab stop; the arrow keys move inside. */
export function Tabs<Id extends string>({ label, tabs, current, panelId, onPick }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null)
  useMoreHint(list)
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const index = tabs.findIndex((tab) => tab.id === current)
    const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ]
    if (target === undefined) return
    event.preventDefault()
    const next = (target + tabs.length) % tabs.length
    onPick((tabs[next] as Tab<Id>).id)
    event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus()
  }
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          class="tab"
          aria-selected={tab.id === current}
          aria-controls={panelId}
          tabIndex={tab.id === current ? 0 : -1}
          onClick={() => onPick(tab.id)}
        >
          {tab.label}
          {tab.isMarked ? <span class="dot tab-mark" aria-hidden="true" /> : null}
        </button>
      ))}
    </div>
  )
}
