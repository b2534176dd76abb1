import { useLayoutEffect, useRef } from "preact/hooks"
import type { Api, OperationGroup } from "../operations/api.ts"
import { MethodBadge } from "../operations/endpoint.tsx"
import { Brand } from "./brand.tsx"
import { filter } from "./filter.ts"
import { FilterBox } from "./filter-box.tsx"
import { filterGroups } from "./filter-groups.ts"
import { currentId } from "./location.ts"
import { ThemeButton } from "./theme-button.tsx"

/** The routes by tag, with a box to filter them. */
export function Sidebar({ api }: { api: Api | undefined }) {
  const root = useRef<HTMLElement>(null)
  const id = currentId.value
  useLayoutEffect(() => {
    root.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" })
  }, [id, api])
  const groups = api ? filterGroups(api.groups, filter.value) : []
  return (
    <nav ref={root} class="sidebar" aria-label="Operations" onKeyDown={moveByArrow}>
      <div class="sidebar-head">
        <div class="sidebar-brand">
          <Brand version={api?.version} />
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
        {groups.map((group) => (
          <Group key={group.name} group={group} id={id} />
        ))}
        {api && groups.length === 0 ? <NothingFound /> : null}
      </div>
    </nav>
  )
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

function NothingFound() {
  return (
    <div class="nav-empty">
      <p>Nothing matches “{filter.value}”</p>
      <button
        type="button"
        class="link-button"
        onClick={() => {
          filter.value = ""
        }}
      >
        Show all
      </button>
    </div>
  )
}

/** Up and down go from the filter box through the links and back. */
function moveByArrow(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .nav-link")]
  const index = stops.indexOf(document.activeElement as HTMLElement)
  if (index === -1) return
  event.preventDefault()
  stops[index + (event.key === "ArrowDown" ? 1 : -1)]?.focus()
}
