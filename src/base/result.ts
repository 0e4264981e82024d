// What reading a text gives: the value, or the reason why there is none. The caller knows which Status that becomes.

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

export const failed = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error })
