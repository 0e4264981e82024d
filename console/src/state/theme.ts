// Light or dark: as the system says, unless the user chose.
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'binnacle.console.theme'
const stored = localStorage.getItem(KEY)

export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

const dark = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(dark.matches)
dark.addEventListener('change', () => {
  systemIsDark.value = dark.matches
})

export const isDark = (): boolean => (theme.value === 'system' ? systemIsDark.value : theme.value === 'dark')

export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light'
  })
}

export function setTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, next)
}
