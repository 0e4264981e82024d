// The credentials with which webhooks are called: the users of a kubeconfig, named by the hosts that they are for.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { mapAt, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

export interface Credentials {
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** PEM. */
  readonly cert?: Buffer | undefined
  readonly key?: Buffer | undefined
}

/** The credentials for a host with its port; undefined for none. Rejects with an Error that says what is wrong. */
export type FindCredentials = (hostPort: string) => Promise<Credentials | undefined>

export const NO_CREDENTIALS: FindCredentials = async () => undefined

/** `path`: that of the kubeconfig; the files that it names are relative to its folder. */
export function webhookUsers(config: ValueObject, path: string): FindCredentials {
  const users = new Map(objectsAt(config, 'users').map(each => [stringAt(each, 'name'), objectAt(each, 'user')]))
  const contexts = new Map(
    objectsAt(config, 'contexts').map(each => [stringAt(each, 'name'), objectAt(each, 'context')]),
  )
  const current = users.get(stringAt(contexts.get(stringAt(config, 'current-context')) ?? {}, 'user'))
  return async hostPort => {
    const name = namesFor(hostPort).find(each => users.has(each))
    const user = name === undefined ? current : users.get(name)
    return user && credentialsOf(user, dirname(path))
  }
}

/** Names of users for a target, the nearest first: with the port, by wildcards, then the same without the default port. */
function namesFor(hostPort: string): string[] {
  const host = hostPort.endsWith(':443') ? hostPort.slice(0, -':443'.length).replace(/^\[(.*)\]$/, '$1') : undefined
  return [...withWildcards(hostPort), ...(host === undefined ? [] : withWildcards(host)), '*']
}

const withWildcards = (name: string): string[] => {
  const parts = name.split('.')
  return [name, ...parts.slice(1).map((_, i) => `*.${parts.slice(i + 1).join('.')}`)]
}

async function credentialsOf(user: ValueObject, folder: string): Promise<Credentials> {
  const at = (field: string): string => stringAt(user, field)
  if (user['auth-provider']) throw new Error('auth provider not supported')
  if (user['exec']) throw new Error('users of webhooks with an exec plugin are not supported')
  const read = async (field: string): Promise<Buffer | undefined> => {
    const data = at(`${field}-data`)
    if (data !== '') return Buffer.from(data, 'base64')
    return at(field) === '' ? undefined : readNamed(resolve(folder, at(field)))
  }
  const [cert, key] = await Promise.all([read('client-certificate'), read('client-key')])
  const token =
    at('tokenFile') === '' ? at('token') : (await readNamed(resolve(folder, at('tokenFile')))).toString().trim()
  const basic = Buffer.from(`${at('username')}:${at('password')}`).toString('base64')
  const authorization = token !== '' ? `Bearer ${token}` : basic === 'Og==' ? undefined : `Basic ${basic}`
  return { headers: { ...(authorization && { authorization }), ...impersonation(user) }, cert, key: cert && key }
}

function impersonation(user: ValueObject): Record<string, string | readonly string[]> {
  const name = stringAt(user, 'as')
  if (name === '') return {}
  const uid = stringAt(user, 'as-uid')
  const groups = stringsAt(user, 'as-groups')
  const extra = mapAt(user, 'as-user-extra')
  return {
    'Impersonate-User': name,
    ...(uid !== '' && { 'Impersonate-Uid': uid }),
    ...(groups.length > 0 && { 'Impersonate-Group': groups }),
    ...Object.fromEntries(
      Object.keys(extra).map(key => [`Impersonate-Extra-${encodeURIComponent(key)}`, stringsAt(extra, key)]),
    ),
  }
}

/** The message is that of Go. */
async function readNamed(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new Error(openError(path, error), { cause: error })
  }
}

/** `open /a: no such file or directory`, as Go says it. */
export function openError(path: string, error: unknown, call = 'open'): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return `${call} ${path}: ${GO_ERRORS[code] ?? message}`
}

const GO_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
}
