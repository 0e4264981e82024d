import type { ComponentChildren } from 'preact'
import { BASE, navigate } from '../router.js'

interface LinkProps {
  /** A path below `/console`, from links.ts. */
  readonly to: string
  readonly class?: string
  readonly title?: string
  readonly current?: boolean
  readonly children: ComponentChildren
  readonly tabIndex?: number
  readonly onFollow?: () => void
}

/** A link between views. With a modifier it opens a new tab, as everywhere. */
export function Link({ to, class: className, title, current = false, children, tabIndex, onFollow }: LinkProps) {
  return (
    <a
      href={BASE + to}
      class={className}
      title={title}
      tabIndex={tabIndex}
      aria-current={current ? 'page' : undefined}
      onClick={event => {
        if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        onFollow?.()
        navigate(to)
      }}
    >
      {children}
    </a>
  )
}
