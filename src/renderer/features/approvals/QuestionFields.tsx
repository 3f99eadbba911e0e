import { useId, useState } from 'react'
import { answersForm, valueInWords } from '../../../shared/questions.ts'
import type { FieldValue, FormAnswer, QuestionField, QuestionForm } from '../../../shared/questions.ts'
import { strings } from '../../strings/index.ts'
import { Revealed, revealText } from '../../text/index.ts'
import { Button, TextField } from '../../ui/index.ts'
import type { Resolve } from './useResolve.ts'
import styles from './question.module.css'

export interface QuestionFieldsProps {
  form: QuestionForm
  title: string
  resolve: Resolve
}

/** What an agent asks in words, field by field, and the two things that can be done: to answer, or not to. */
export function QuestionFields({ form, title, resolve }: QuestionFieldsProps) {
  const [answer, setAnswer] = useState<FormAnswer>({})
  const { approvals } = strings
  const complete = answersForm(form, answer)
  const change = (id: string, value: FieldValue | null): void =>
    setAnswer(({ [id]: _before, ...others }) => (value === null ? others : { ...others, [id]: value }))
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (complete) resolve.send({ form: answer })
      }}
    >
      {form.text !== '' && (
        <p className={styles.text}>
          <Revealed text={form.text} />
        </p>
      )}
      {form.fields.map((field) => (
        <Field
          key={field.id}
          field={field}
          value={answer[field.id] ?? null}
          onChange={(value) => change(field.id, value)}
        />
      ))}
      <div className={styles.buttons}>
        <Button
          tone="primary"
          type="submit"
          pending={resolve.pending}
          disabled={!complete}
          aria-label={approvals.named(approvals.sendAnswer, title)}
        >
          {approvals.sendAnswer}
        </Button>
        <Button
          pending={resolve.pending}
          aria-label={approvals.named(approvals.doNotAnswer, title)}
          onClick={() => resolve.send({ option: 'reject_once' })}
        >
          {approvals.doNotAnswer}
        </Button>
      </div>
    </form>
  )
}

interface FieldProps {
  field: QuestionField
  value: FieldValue | null
  onChange: (value: FieldValue | null) => void
}

function Field({ field, value, onChange }: FieldProps) {
  const { approvals } = strings
  const label = field.label === '' ? approvals.answer : revealText(field.label)
  const shown = field.required ? label : approvals.optional(label)
  switch (field.kind) {
    case 'text':
    case 'number':
      return <WordsField field={field} label={shown} onChange={onChange} />
    case 'yes_no': {
      const options = [true, false].map((yes) => ({ label: approvals.yesNo(yes), description: '', yes }))
      return (
        <Choices
          label={shown}
          options={options}
          isChosen={(index) => value === options[index]?.yes}
          onChoose={(index) => onChange(options[index]?.yes ?? null)}
        />
      )
    }
    case 'choice':
      return <ChoiceField field={field} label={shown} value={value} onChange={onChange} />
    case 'choices':
      return <ChoicesField field={field} label={shown} value={value} onChange={onChange} />
    default:
      return field.kind satisfies never
  }
}

function WordsField({
  field,
  label,
  onChange,
}: {
  field: QuestionField
  label: string
  onChange: FieldProps['onChange']
}) {
  const [words, setWords] = useState('')
  return (
    <TextField
      label={label}
      value={words}
      onChange={(next) => {
        setWords(next)
        onChange(next.trim() === '' ? null : valueInWords(field, next))
      }}
    />
  )
}

interface OptionFieldProps extends FieldProps {
  label: string
}

/** One of its options, or words of one's own where it takes them. */
function ChoiceField({ field, label, value, onChange }: OptionFieldProps) {
  const [own, setOwn] = useState('')
  const chosen = field.options.findIndex((option) => option.label === value)
  return (
    <Choices
      label={label}
      options={field.options}
      isChosen={(index) => index === chosen}
      onChoose={(index) => {
        setOwn('')
        onChange(field.options[index]?.label ?? null)
      }}
      own={
        field.other
          ? {
              words: own,
              onChange: (words) => {
                setOwn(words)
                onChange(words.trim() === '' ? null : words.trim())
              },
            }
          : null
      }
    />
  )
}

function ChoicesField({ field, label, value, onChange }: OptionFieldProps) {
  const [own, setOwn] = useState('')
  const labels = field.options.map((option) => option.label)
  const chosen = Array.isArray(value) ? labels.filter((each) => value.includes(each)) : []
  const tell = (picked: readonly string[], words: string): void => {
    const all = [...labels.filter((each) => picked.includes(each)), ...(words.trim() === '' ? [] : [words.trim()])]
    onChange(all.length === 0 ? null : all)
  }
  return (
    <Choices
      several
      label={label}
      options={field.options}
      isChosen={(index) => chosen.includes(labels[index] ?? '')}
      onChoose={(index) => {
        const option = labels[index] ?? ''
        tell(chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option], own)
      }}
      own={
        field.other
          ? {
              words: own,
              onChange: (words) => {
                setOwn(words)
                tell(chosen, words)
              },
            }
          : null
      }
    />
  )
}

interface ChoicesProps {
  label: string
  options: readonly { label: string; description: string }[]
  several?: boolean
  isChosen: (index: number) => boolean
  onChoose: (index: number) => void
  own?: { words: string; onChange: (words: string) => void } | null
}

function Choices({ label, options, several = false, isChosen, onChoose, own = null }: ChoicesProps) {
  const name = useId()
  return (
    <fieldset className={styles.field}>
      <legend className={styles.legend}>{label}</legend>
      {options.map((option, index) => {
        const id = `${name}-${index}`
        return (
          <div key={option.label} className={styles.option}>
            <input
              id={id}
              type={several ? 'checkbox' : 'radio'}
              name={name}
              checked={isChosen(index)}
              aria-describedby={option.description === '' ? undefined : `${id}-more`}
              onChange={() => onChoose(index)}
            />
            <label htmlFor={id}>
              <Revealed text={option.label} />
            </label>
            {option.description !== '' && (
              <span id={`${id}-more`} className={styles.more}>
                <Revealed text={option.description} />
              </span>
            )}
          </div>
        )
      })}
      {own !== null && <TextField label={strings.approvals.ownWords} value={own.words} onChange={own.onChange} />}
    </fieldset>
  )
}
