import { expect, test } from 'vitest'
import { userOfHeaders } from './request-header.js'

const NAMES = {
  usernameHeaders: ['x-remote-user', 'x-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

test('headers name the user, its uid, groups and extra fields', () => {
  const headers = [
    ['X-Remote-User', 'alice'],
    ['X-User', 'bob'],
    ['X-Remote-Uid', '42'],
    ['X-Remote-Group', 'devs'],
    ['X-Remote-Group', 'ops'],
    ['X-Remote-Extra-Acme.com%2fProject', 'one'],
    ['X-Remote-Extra-Scopes', 'a'],
    ['X-Remote-Extra-Scopes', 'b'],
  ].flat()
  expect(userOfHeaders(NAMES, headers)).toEqual({
    name: 'alice',
    uid: '42',
    groups: ['devs', 'ops'],
    extra: { 'acme.com/project': ['one'], scopes: ['a', 'b'] },
  })
})

test('without a header that names a user there is none', () => {
  expect(userOfHeaders(NAMES, ['X-Remote-Group', 'system:masters'])).toBeUndefined()
  expect(userOfHeaders(NAMES, ['X-Remote-User', ''])).toBeUndefined()
})
