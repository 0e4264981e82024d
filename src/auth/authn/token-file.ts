// Static tokens: a file with a line for each, `token,user,uid,"group1,group2"`, as kube-apiserver reads it.
import type { Identity } from './authenticate.js'

/** The tokens of a file. Throws when a line lacks its token, user or uid. */
export function parseTokenFile(text: string): Map<string, Identity> {
  const tokens = new Map<string, Identity>()
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [token = '', name = '', uid = '', groups = ''] = splitRecord(line)
    if (token === '' || name === '') {
      throw new Error(`line ${i + 1} of the token file must be token,user,uid and optionally "group1,group2"`)
    }
    tokens.set(token, { name, uid, groups: groups.split(',').filter(Boolean), extra: {} })
  }
  return tokens
}

/** A record of a CSV file: fields between commas, in double quotes where they hold commas themselves. */
function splitRecord(line: string): string[] {
  const fields: string[] = []
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)) {
    fields.push(quoted === undefined ? (plain ?? '').trim() : quoted.replaceAll('""', '"'))
  }
  return fields
}
