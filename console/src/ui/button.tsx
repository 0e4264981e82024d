import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { Icon, type IconName } from './icon.js'

interface ButtonProps {
  readonly children?: ComponentChildren
  readonly icon?: IconName
  /** The name of a button that has an icon only. */
  readonly label?: string
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  /** Why it cannot be pressed now. It stays in the order of focus, so that the reason can be read. */
  readonly refused?: string | undefined
  readonly busy?: boolean
  readonly pressed?: boolean
  readonly keys?: string
  readonly type?: 'button' | 'submit'
  readonly onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void
}

export function Button(props: ButtonProps) {
  const {
    children,
    icon,
    label,
    tone = 'plain',
    refused,
    busy = false,
    pressed,
    keys,
    type = 'button',
    onClick,
  } = props
  const isOff = refused !== undefined || busy
  const title = refused ?? (keys === undefined ? label : `${label ?? ''} ${keys}`.trim())
  return (
    <button
      type={type}
      class={`button ${tone}${children === undefined ? ' icon-only' : ''}`}
      aria-label={label !== undefined && children === undefined ? label : undefined}
      aria-disabled={isOff ? 'true' : undefined}
      aria-description={refused}
      aria-pressed={pressed}
      aria-busy={busy ? 'true' : undefined}
      title={title}
      onClick={event => {
        if (isOff) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}
