// What reading a text gives: the value, or the reason why there is none. The caller knows which Status that becomes.

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string }

export const parsed = <T>(value: T): Result<T> => ({ ok: true, value })

export const failed = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error })
