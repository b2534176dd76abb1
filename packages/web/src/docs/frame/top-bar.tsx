import { Icon } from "../../ui/icon.tsx"
import { Brand } from "./brand.tsx"
import { isMenuOpen } from "./filter.ts"
import { ThemeButton } from "./theme-button.tsx"

/** The bar of narrow screens, where the side bar has no room. */
export function TopBar() {
  return (
    <header class="top-bar">
      <button
        type="button"
        class="icon-button"
        aria-label="Operations"
        aria-haspopup="dialog"
        aria-expanded={isMenuOpen.value}
        onClick={() => {
          isMenuOpen.value = true
        }}
      >
        <Icon name="menu" />
      </button>
      <Brand />
      <ThemeButton />
    </header>
  )
}
