import { expect, test } from 'vitest'
import { completeFields, completeLabels, countLabels, selectableFields } from './selector-completion.js'

const known = countLabels([
  { metadata: { labels: { app: 'web', tier: 'front' } } },
  { metadata: { labels: { app: 'web' } } },
  { metadata: { labels: { app: 'db' } } },
  { metadata: {} },
])

const texts = (text: string): string[] => completeLabels(text, known).map(suggestion => suggestion.text)

test.each([
  ['', ['app=', 'tier=']],
  ['ti', ['tier=']],
  ['!ti', ['!tier']],
  ['app=', ['app=web', 'app=db']],
  ['app=d', ['app=db']],
  ['app!=', ['app!=web', 'app!=db']],
  ['tier=front, a', ['tier=front, app=']],
  ['app in (', ['app in (web', 'app in (db']],
  ['app in (web,', ['app in (web,web', 'app in (web,db']],
  ['app in (web,db), t', ['app in (web,db), tier=']],
  ['nothing=', []],
])('%o is completed by %o', (text, expected) => {
  expect(texts(text)).toEqual(expected)
})

test('fields are completed, values are not', () => {
  const fields = selectableFields({ name: 'pods', namespaced: true }, [])
  expect(completeFields('status.ph', fields).map(({ text }) => text)).toEqual(['status.phase='])
  expect(completeFields('status.phase=', fields)).toEqual([])
  expect(completeFields('status.phase=Running,metadata.names', fields).map(({ text }) => text)).toEqual([
    'status.phase=Running,metadata.namespace=',
  ])
})

test('a cluster-wide resource has no namespace to select by', () => {
  expect(selectableFields({ name: 'widgets', namespaced: false }, ['spec.color'])).toEqual([
    'metadata.name',
    'spec.color',
  ])
})
