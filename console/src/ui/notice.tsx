import type { ComponentChildren } from 'preact'
import { messageOf } from '../api/client.js'
import { Icon } from './icon.js'

/** What is in the place of content that is not there. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

export function Notice({
  tone,
  children,
}: {
  readonly tone: 'info' | 'warning' | 'error'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`notice ${tone}`} role={tone === 'error' ? 'alert' : 'note'}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div>{children}</div>
    </div>
  )
}

export const ErrorNotice = ({ error }: { readonly error: unknown }) => <Notice tone="error">{messageOf(error)}</Notice>

export const Loading = ({ label = 'Loading' }: { readonly label?: string }) => (
  <div class="loading" role="status">
    <span class="spinner" aria-hidden="true" />
    {label} …
  </div>
)

export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: 'neutral' | 'good' | 'warn' | 'bad' | 'accent'
  readonly title?: string
  readonly children: ComponentChildren
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  )
}
