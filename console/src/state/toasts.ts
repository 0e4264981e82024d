// Short messages at the edge of the window: what was done, and what failed.
import { signal } from '@preact/signals'
import { ApiError, messageOf } from '../api/client.js'

export interface Toast {
  readonly id: number
  readonly tone: 'done' | 'warning' | 'error'
  readonly text: string
  readonly details: readonly string[]
}

export const toasts = signal<readonly Toast[]>([])

const LIFETIME_MS = { done: 4000, warning: 8000, error: 12_000 }
const MAX_TOASTS = 5
let lastId = 0

export function toast(tone: Toast['tone'], text: string, details: readonly string[] = []): void {
  // The same message again says nothing new.
  if (toasts.peek().some(each => each.text === text)) return
  const added = { id: ++lastId, tone, text, details }
  toasts.value = [...toasts.peek(), added].slice(-MAX_TOASTS)
  setTimeout(() => dismiss(added.id), LIFETIME_MS[tone])
}

export function toastError(error: unknown): void {
  const causes = error instanceof ApiError ? error.causes : []
  toast('error', messageOf(error), causes.length > 1 ? causes.map(({ field, message }) => `${field}: ${message}`) : [])
}

export function dismiss(id: number): void {
  toasts.value = toasts.peek().filter(each => each.id !== id)
}
