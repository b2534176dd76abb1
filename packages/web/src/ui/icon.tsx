const paths = {
  check: "M3.5 8.5l3 3 6-7",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  dark: "M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z",
  light:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  lock: "M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  mark: "M1.5 13.5V8L5 4.5 8.5 8v5.5M8.5 8l2.5-2.5L14.5 9v4.5M1 13.5h14M4 13.5V10h2v3.5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4M10.2 10.2l3.3 3.3",
  system: "M2 3.5h12v7.5H2zM6 13.5h4M8 11v2.5",
  unlock: "M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 4.8-1",
  warning: "M8 2.2l6.3 11.3H1.7zM8 6.5v3.2M8 11.4v.4",
} as const

/** The names of the drawings. */
export type IconName = keyof typeof paths

/** A small drawing in the colour of the text around it; the text says what it means. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
