import { describe, expect, test } from 'vitest'
import { decodeJson } from './decode.js'
import { decodeWrittenJson } from './decode-written.js'

describe('JSON that was written here is read as any other', () => {
  test.each([
    '{"a":1,"b":[true,null,"x"],"c":{"d":-5}}',
    '[{"a":9007199254740993},{"b":-9223372036854775808}]',
    '{"a":-0,"b":[-0,0]}',
    '{"a":1.0,"b":1e21,"c":0.5,"d":-2E3,"e":[10.0]}',
    '{"a":"\\ud83d\\ude00","b":"\\ud83d"}',
    '{"__proto__":{"a":1},"2":"b","1":"a"}',
    '{"a":"é \\u0000 \\u003c","b":"😀"}',
    '{"a":1,"a":2}',
  ])('%s', text => {
    const bytes = Buffer.from(text)
    expect(decodeWrittenJson(bytes)).toEqual(decodeJson(bytes, { floatMinusZero: true }).value)
  })

  test('with bytes that are no UTF-8', () => {
    const bytes = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xe2, 0x82, 0x22, 0x7d])
    expect(decodeWrittenJson(bytes)).toEqual({ a: '\ufffd\ufffd' })
  })

  test('what is no JSON is refused with the words of our parser', () => {
    expect(() => decodeWrittenJson(Buffer.from('{"a":1,}'))).toThrow(
      "invalid character '}' looking for beginning of object key string",
    )
  })
})
