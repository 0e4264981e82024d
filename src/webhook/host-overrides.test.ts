import { expect, it } from 'vitest'
import { parseHostOverride } from './host-overrides.js'

it.each([
  ['a.ns.svc=127.0.0.1', ['a.ns.svc', { host: '127.0.0.1' }]],
  ['a.ns.svc=127.0.0.1:9443', ['a.ns.svc', { host: '127.0.0.1', port: 9443 }]],
  ['A.example.com=localhost:1', ['a.example.com', { host: 'localhost', port: 1 }]],
  ['a=::1', ['a', { host: '::1' }]],
  ['a=[::1]:443', ['a', { host: '::1', port: 443 }]],
])('%s', (text, override) => {
  expect(parseHostOverride(text)).toEqual(override)
})

it.each([
  '',
  'a',
  'a=',
  '=127.0.0.1',
  'a=127.0.0.1:',
  'a=x:0',
  'a=x:65536',
  'a=[x]:1',
  'a b=x',
  'a=x y',
  'a=https://x',
])('%j is none', text => {
  expect(parseHostOverride(text)).toBeUndefined()
})
