import { Icon } from "../../ui/icon.tsx"
import { nextTheme, theme } from "./theme.ts"

const labels = {
  system: "Colours as the system says",
  light: "Light colours",
  dark: "Dark colours",
} as const

/** Switches between the colour schemes. */
export function ThemeButton() {
  const label = `${labels[theme.value]}; switch`
  return (
    <button
      type="button"
      class="icon-button theme-button"
      aria-label={label}
      title={label}
      onClick={nextTheme}
    >
      <Icon name={theme.value} />
    </button>
  )
}
