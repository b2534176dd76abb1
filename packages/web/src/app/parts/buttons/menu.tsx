import { useSignal } from "@preact/signals"
import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { setTo } from "../../../ui/bind.ts"
import { Icon, type IconName } from "../../../ui/icon.tsx"
import { reportFailure } from "./use-action.ts"

/** A button that opens a menu. The arrow keys move, Escape closes it and restores the focus. */
export function Menu(props: {
  readonly label: string
  readonly title?: string
  readonly button: ComponentChildren
  readonly buttonClass?: string
  /** What has the focus after the menu, instead of its button, which Tab then skips. */
  readonly owner?: RefObject<HTMLElement | null>
  readonly children: ComponentChildren
}) {
  const isOpen = useSignal(false)
  const root = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const focusOwner = () => (props.owner ?? opener).current?.focus()
  // Before the menu is seen: a later effect would take the focus back from an item chosen by then.
  useLayoutEffect(() => {
    if (!isOpen.value) return
    keepInWindow(root.current?.querySelector(".menu-list"))
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
      focusOwner()
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
        {...(props.owner ? { tabIndex: -1 } : {})}
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
            focusOwner()
          }}
        >
          {props.children}
        </div>
      ) : null}
    </div>
  )
}

/** A link or an action in a menu. A failure of the action is reported. */
export function MenuItem(props: {
  readonly icon: IconName
  readonly label: string
  readonly href?: string
  readonly onClick?: () => unknown
}) {
  const { icon, label, href, onClick } = props
  const content = (
    <>
      <Icon name={icon} /> {label}
    </>
  )
  if (href !== undefined)
    return (
      <a role="menuitem" href={href}>
        {content}
      </a>
    )
  return (
    <button type="button" role="menuitem" onClick={() => void reportFailure(onClick)}>
      {content}
    </button>
  )
}

/** One of several choices in a menu. */
export function MenuChoice(props: {
  readonly icon: IconName
  readonly label: string
  readonly isChosen: boolean
  readonly onClick: () => void
}) {
  const { icon, label, isChosen, onClick } = props
  return (
    <button type="button" role="menuitemradio" aria-checked={isChosen} onClick={onClick}>
      <Icon name={icon} /> {label}
      {isChosen ? <Icon name="check" /> : null}
    </button>
  )
}

/** Moves a list that would be cut off at the end of the window. */
function keepInWindow(list: HTMLElement | null | undefined): void {
  if (!list) return
  const { right, bottom } = list.getBoundingClientRect()
  const [x, y] = [Math.min(0, innerWidth - right - 4), Math.min(0, innerHeight - bottom - 4)]
  if (x < 0 || y < 0) list.style.translate = `${x}px ${y}px`
}

function items(root: HTMLElement | null): readonly HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
}

function move(root: HTMLElement | null, step: 1 | -1): void {
  const all = items(root)
  const index = all.indexOf(document.activeElement as HTMLElement)
  all[(index + step + all.length) % all.length]?.focus()
}
