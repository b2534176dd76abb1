import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { setTo } from "../../ui/bind.ts"

/** A button that opens a menu. The arrow keys move, Escape closes it and restores the focus. */
export function Menu(props: {
  readonly label: string
  readonly title?: string
  readonly button: ComponentChildren
  readonly buttonClass?: string
  readonly children: ComponentChildren
}) {
  const isOpen = useSignal(false)
  const root = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  // Before the menu is seen: a later effect would take the focus back from an item chosen by then.
  useLayoutEffect(() => {
    if (!isOpen.value) return
    items(root.current)[0]?.focus()
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target))
        isOpen.value = false
    }
    addEventListener("pointerdown", closeOutside)
    addEventListener("focusin", closeOutside)
    return () => {
      removeEventListener("pointerdown", closeOutside)
      removeEventListener("focusin", closeOutside)
    }
  }, [isOpen.value])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isOpen.value) {
      isOpen.value = false
      opener.current?.focus()
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      if (isOpen.value) move(root.current, event.key === "ArrowDown" ? 1 : -1)
      else isOpen.value = true
    }
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of its items
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        class={props.buttonClass ?? "icon-button"}
        aria-label={props.label}
        {...(props.title === undefined ? {} : { title: props.title })}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={setTo(isOpen, !isOpen.value)}
      >
        {props.button}
      </button>
      {isOpen.value ? (
        // biome-ignore lint/a11y/useKeyWithClickEvents: its items are links and buttons, which have keys
        <div
          class="menu-list"
          role="menu"
          aria-label={props.label}
          tabIndex={-1}
          onClick={() => {
            isOpen.value = false
            // The focused item is removed with the list: the focus goes to the button.
            opener.current?.focus()
          }}
        >
          {props.children}
        </div>
      ) : null}
    </div>
  )
}

function items(root: HTMLElement | null): readonly HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
}

function move(root: HTMLElement | null, step: 1 | -1): void {
  const all = items(root)
  const index = all.indexOf(document.activeElement as HTMLElement)
  all[(index + step + all.length) % all.length]?.focus()
}
