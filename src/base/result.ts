// The outcome of parsing a text: the value, or the reason why it is invalid. The caller chooses the Status for it.

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string }

export const parsed = <T>(value: T): Result<T> => ({ ok: true, value })

export const failed = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error })
