import { Combobox as Base } from '@base-ui/react/combobox'
import { strings } from '../strings/index.ts'
import { hasWords } from '../text/index.ts'
import type { SelectItem, SelectProps } from './Select.tsx'
import styles from './Select.module.css'

/** A Select whose list is too long to look through: it is narrowed by words. */
export function SearchSelect<V extends string>({
  label,
  value,
  items,
  disabled = false,
  tone = 'field',
  onChange,
}: SelectProps<V>) {
  return (
    <Base.Root<SelectItem<V>>
      items={items}
      value={items.find((item) => item.value === value) ?? null}
      isItemEqualToValue={(one, other) => one.value === other.value}
      filter={(item, query) => hasWords(item.label, query)}
      autoHighlight
      disabled={disabled}
      onValueChange={(next) => next !== null && onChange(next.value)}
    >
      <Base.Trigger className={styles.trigger} data-tone={tone} aria-label={label}>
        <span className={styles.value}>
          <Base.Value />
        </span>
        <Base.Icon className={styles.icon} aria-hidden="true">
          ▾
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="start" sideOffset={4}>
          <Base.Popup className={styles.popup} data-searched="" aria-label={label}>
            <Base.Input
              className={styles.search}
              aria-label={strings.lists.searchIn(label)}
              placeholder={strings.lists.search}
              spellCheck={false}
            />
            <Base.Empty className={styles.empty}>{strings.lists.noMatch}</Base.Empty>
            <Base.List className={styles.list} aria-label={label}>
              {(item: SelectItem<V>) => (
                <Base.Item key={item.value} value={item} disabled={item.disabled === true} className={styles.item}>
                  <span>{item.label}</span>
                  {item.note !== undefined && <span className={styles.note}>{item.note}</span>}
                  <Base.ItemIndicator className={styles.tick} aria-hidden="true">
                    ✓
                  </Base.ItemIndicator>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
