import { useRef } from "preact/hooks"

/** A line between two panes. It resizes the pane after it, by pointer and by keyboard. */
export function Splitter(props: {
  readonly label: string
  /** The direction of the line. */
  readonly orientation: "vertical" | "horizontal"
  /** The id of the pane that it resizes. */
  readonly controls: string
  readonly percent: number
  readonly limits: { readonly min: number; readonly max: number }
  readonly isOpen: boolean
  readonly onResize: (percent: number) => void
  readonly onToggle: (isOpen: boolean) => void
}) {
  const { label, orientation, controls, percent, limits, isOpen, onResize, onToggle } = props
  const isDragging = useRef(false)
  const resize = (wanted: number) => {
    // Dragging a pane to less than half of its smallest size closes it.
    if (wanted < limits.min / 2) return onToggle(false)
    if (!isOpen) onToggle(true)
    onResize(Math.round(Math.min(limits.max, Math.max(limits.min, wanted)) * 10) / 10)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Control-Enter runs the val.
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const [larger, smaller] =
      orientation === "vertical" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"]
    const from = isOpen ? percent : 0
    if (event.key === "Enter") onToggle(!isOpen)
    else if (event.key === larger) resize(Math.max(limits.min, from + keyPercent))
    else if (event.key === smaller) resize(from <= limits.min ? 0 : from - keyPercent)
    else if (event.key === "Home") resize(limits.min)
    else if (event.key === "End") resize(limits.max)
    else return
    event.preventDefault()
  }
  const endDrag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    isDragging.current = false
    event.currentTarget.parentElement?.removeAttribute("data-dragging")
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line that can be moved is no thematic break
    <div
      class={`splitter splitter-${orientation}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-controls={controls}
      aria-valuemin={0}
      aria-valuemax={limits.max}
      aria-valuenow={isOpen ? Math.round(percent) : 0}
      aria-valuetext={isOpen ? `${Math.round(percent)} percent` : "Closed"}
      title={`${label}: drag, use the arrow keys, or double-click to close and open`}
      onKeyDown={onKeyDown}
      onDblClick={() => onToggle(!isOpen)}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        isDragging.current = true
        event.currentTarget.setPointerCapture(event.pointerId)
        // Frames would swallow the pointer, and text would be selected.
        event.currentTarget.parentElement?.setAttribute("data-dragging", orientation)
      }}
      onPointerMove={(event) => {
        const box = event.currentTarget.parentElement?.getBoundingClientRect()
        if (isDragging.current && box) resize(toPercent(event, box, orientation))
      }}
      onPointerUp={endDrag}
      onPointerCancel={endDrag}
    />
  )
}

const keyPercent = 4

/** The part of the box after the pointer. */
function toPercent(
  { clientX, clientY }: PointerEvent,
  { right, bottom, width, height }: DOMRect,
  orientation: "vertical" | "horizontal",
): number {
  const [after, whole] =
    orientation === "vertical" ? [right - clientX, width] : [bottom - clientY, height]
  return (after / Math.max(1, whole)) * 100
}
