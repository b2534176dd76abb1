import { useLayoutEffect, useRef } from "preact/hooks"
import { Icon, type IconName } from "../../ui/icon.tsx"
import { useMoreHint } from "../../ui/use-more-hint.ts"

/** A tab with its own address. */
export interface LinkTab {
  readonly href: string
  readonly label: string
  readonly icon?: IconName
  readonly count?: number | undefined
}

/** Tabs that are links: each can be opened in a browser tab, and the history works. */
export function LinkTabs(props: {
  readonly label: string
  readonly tabs: readonly LinkTab[]
  readonly current: string
}) {
  const { label, tabs, current } = props
  const list = useRef<HTMLElement>(null)
  useMoreHint(list)
  // On a narrow screen the current tab may be outside the visible part.
  useLayoutEffect(() => {
    const tab = list.current?.querySelector("[aria-current]")?.getBoundingClientRect()
    const view = list.current?.getBoundingClientRect()
    if (!tab || !view || (tab.left >= view.left && tab.right <= view.right)) return
    list.current?.scrollBy({ left: tab.left - view.left - (view.width - tab.width) / 2 })
  }, [current])
  return (
    <nav ref={list} class="tabs tab-bar" aria-label={label}>
      {tabs.map(({ href, label, icon, count }) => (
        <a
          key={href}
          class="tab"
          href={href}
          {...(href === current ? { "aria-current": "page" as const } : {})}
        >
          {icon ? <Icon name={icon} /> : null}
          {label}
          {count ? <span class="tiny count">{count}</span> : null}
        </a>
      ))}
    </nav>
  )
}
