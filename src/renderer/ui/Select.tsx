import { Select as Base } from '@base-ui/react/select'
import { SearchSelect } from './SearchSelect.tsx'
import styles from './Select.module.css'

/** A longer list is searched. */
const FEW = 12

export interface SelectItem<V extends string> {
  value: V
  label: string
  /** Small print beside the label. */
  note?: string
  disabled?: boolean
}

export interface SelectProps<V extends string> {
  label: string
  /** The label is shown by the caller, or only said. */
  value: V
  items: readonly SelectItem<V>[]
  disabled?: boolean
  tone?: 'field' | 'quiet'
  onChange: (value: V) => void
}

export function Select<V extends string>(props: SelectProps<V>) {
  return props.items.length > FEW ? <SearchSelect {...props} /> : <ShortSelect {...props} />
}

function ShortSelect<V extends string>({
  label,
  value,
  items,
  disabled = false,
  tone = 'field',
  onChange,
}: SelectProps<V>) {
  return (
    <Base.Root
      value={value}
      items={items.map(({ value, label }) => ({ value, label }))}
      disabled={disabled}
      onValueChange={(next) => next !== null && onChange(next)}
    >
      <Base.Trigger className={styles.trigger} data-tone={tone} aria-label={label}>
        <Base.Value className={styles.value} />
        <Base.Icon className={styles.icon} aria-hidden="true">
          ▾
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="start" sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className={styles.popup} aria-label={label}>
            {items.map((item) => (
              <Base.Item key={item.value} value={item.value} disabled={item.disabled === true} className={styles.item}>
                <Base.ItemText>{item.label}</Base.ItemText>
                {item.note !== undefined && <span className={styles.note}>{item.note}</span>}
                <Base.ItemIndicator className={styles.tick} aria-hidden="true">
                  ✓
                </Base.ItemIndicator>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
