import { Icon } from "../../ui/icon.tsx"
import { filter } from "./filter.ts"

/** Filters the operations. Enter goes to the first that is left, Escape empties the box. */
export function FilterBox() {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.key === "Escape" && filter.value !== "") {
      // In the menu, Escape would close it as well.
      event.preventDefault()
      filter.value = ""
    }
    if (event.key === "Enter" && filter.value !== "")
      event.currentTarget.closest("nav")?.querySelector<HTMLElement>(".nav-link")?.click()
  }
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        class="filter-input"
        type="search"
        value={filter.value}
        placeholder="Filter"
        aria-label="Filter the operations"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          filter.value = event.currentTarget.value
        }}
        onKeyDown={onKeyDown}
      />
      <span class="filter-key" aria-hidden="true">
        /
      </span>
    </div>
  )
}

/** Lets `/` go to the filter box from everywhere but a place to type in. */
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
