// Files that flags name.
import { readFileSync } from 'node:fs'
import { UsageError } from '../../base/usage-error.js'

/** The text of a file, or a UsageError that names the flag and the file. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--${flag}=${path}: the file cannot be read: ${messageOf(error)}`)
  }
}

export const readOptionalFile = (flag: string, path: string | undefined): string | undefined =>
  path === undefined ? undefined : readFlagFile(flag, path)

/** A file that must hold at least one certificate in PEM form. */
export function readCertificates(flag: string, path: string | undefined): string | undefined {
  const text = readOptionalFile(flag, path)
  if (text !== undefined && !text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new UsageError(`--${flag}=${path}: the file contains no certificate in PEM form`)
  }
  return text
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
