import { useLayoutEffect, useRef } from "preact/hooks"
import { bindText, setTo } from "../../ui/bind.ts"
import { Brand } from "../../ui/brand.tsx"
import { Icon } from "../../ui/icon.tsx"
import { setNextTheme, theme, themeLabels } from "../../ui/theme/theme.ts"
import type { Api, OperationGroup } from "../operations/api.ts"
import { MethodBadge } from "../operations/endpoint.tsx"
import { filterGroups } from "./filter-groups.ts"
import { currentId, filter } from "./view.ts"

/** The operations by tag, with a box that filters them. */
export function Sidebar({ api }: { api: Api | undefined }) {
  const root = useRef<HTMLElement>(null)
  const id = currentId.value
  useLayoutEffect(() => {
    const [list, current] = [".sidebar-list", "[aria-current]"].map((selector) =>
      root.current?.querySelector(selector),
    )
    if (list && current) scrollWithin(list, current)
  }, [id, api])
  const groups = api ? filterGroups(api.groups, filter.value) : []
  return (
    <nav ref={root} class="column sidebar" aria-label="Operations" onKeyDown={moveByArrow}>
      <div class="sidebar-head">
        <div class="row sidebar-brand">
          <Brand href="#overview" version={api?.version} />
          <ThemeButton />
        </div>
        <FilterBox />
      </div>
      <div class="sidebar-list">
        {filter.value === "" ? (
          <a
            class="nav-link"
            href="#overview"
            aria-current={id === "" || id === "overview" ? "page" : undefined}
          >
            Overview
          </a>
        ) : null}
        {filter.value === "" ? (
          <a class="nav-link" href="/docs/vals">
            Documentation
          </a>
        ) : null}
        {groups.map((group) => (
          <Group key={group.name} group={group} id={id} />
        ))}
        {api && groups.length === 0 ? (
          <div class="nav-empty">
            <p>Nothing matches “{filter.value}”</p>
            <button type="button" class="link-button" onClick={setTo(filter, "")}>
              Show all
            </button>
          </div>
        ) : null}
      </div>
    </nav>
  )
}

/** Not `scrollIntoView`: in Chromium the Tab key goes on from there, behind the skip button. */
function scrollWithin(list: Element, item: Element): void {
  const [frame, place] = [list.getBoundingClientRect(), item.getBoundingClientRect()]
  if (place.top < frame.top) list.scrollTop -= frame.top - place.top
  else if (place.bottom > frame.bottom) list.scrollTop += place.bottom - frame.bottom
}

function Group({ group, id }: { group: OperationGroup; id: string }) {
  return (
    <section class="nav-group">
      <h2>{group.name}</h2>
      <ul>
        {group.operations.map((operation) => (
          <li key={operation.id}>
            <a
              class="nav-link"
              href={`#${operation.id}`}
              aria-current={id === operation.id ? "page" : undefined}
              title={`${operation.method} ${operation.path}`}
            >
              <MethodBadge method={operation.method} />
              <span class="nav-title">{operation.title}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Filters the operations. Enter opens the first match, Escape clears the box. */
function FilterBox() {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (filter.value === "") return
    if (event.key === "Escape") {
      // Otherwise Escape would also close the dialog of narrow screens.
      event.preventDefault()
      filter.value = ""
    }
    if (event.key === "Enter")
      event.currentTarget.closest("nav")?.querySelector<HTMLElement>(".nav-link")?.click()
  }
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        class="input filter-input"
        type="search"
        placeholder="Filter"
        aria-label="Filter the operations"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        {...bindText(filter)}
        onKeyDown={onKeyDown}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  )
}

/** Switches to the next colour scheme. */
export function ThemeButton() {
  const label = `Colours: ${themeLabels[theme.value]}; switch`
  return (
    <button
      type="button"
      class="icon-button theme-button"
      aria-label={label}
      title={label}
      onClick={setNextTheme}
    >
      <Icon name={theme.value} />
    </button>
  )
}

/** Makes `/` focus the filter box, except while the user types in a field. */
export function followSlash(): void {
  document.addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest("input, textarea, select") !== null
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    const boxes = [...document.querySelectorAll<HTMLInputElement>(".filter-input")]
    const visible = boxes.find((box) => box.checkVisibility())
    if (!visible) return
    event.preventDefault()
    visible.focus()
    visible.select()
  })
}

/** The arrow keys move from the filter box through the links and back. */
function moveByArrow(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .nav-link")]
  const index = stops.indexOf(document.activeElement as HTMLElement)
  if (index === -1) return
  event.preventDefault()
  stops[index + (event.key === "ArrowDown" ? 1 : -1)]?.focus()
}
